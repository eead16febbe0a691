"""Writes tests/data/training: learning rates, rope tables and AdamW steps as torch 2.11.0 and transformers 5.24.0 compute them.

usage (in the peers' environment): gen_training_data.py OUT_DIR
"""
import json, sys, torch, warnings
warnings.filterwarnings("ignore")
from torch.optim.lr_scheduler import *
out=[]
def case(name, base, build, pieces, milestones, steps=40):
    p=torch.nn.Parameter(torch.zeros(1)); o=torch.optim.SGD([p],lr=base); s=build(o); lrs=[]
    for _ in range(steps):
        lrs.append(o.param_groups[0]['lr']); o.step(); s.step()
    out.append(dict(name=name,base_lr=base,pieces=pieces,milestones=milestones,rates=lrs))
L=dict(name="torch.optim.lr_scheduler.LinearLR",start_factor=0.1,end_factor=1.0,total_iters=10)
C=dict(name="torch.optim.lr_scheduler.CosineAnnealingLR",t_max=20,eta_min=1e-5)
K=dict(name="torch.optim.lr_scheduler.ConstantLR",factor=0.25,total_iters=5)
lin=lambda o:LinearLR(o,start_factor=0.1,end_factor=1.0,total_iters=10)
cos=lambda o:CosineAnnealingLR(o,T_max=20,eta_min=1e-5)
con=lambda o:ConstantLR(o,factor=0.25,total_iters=5)
case("linear",3e-4,lin,[L],[])
case("cosine beyond T_max",3e-4,cos,[C],[],60)
case("constant",3e-4,con,[K],[])
case("linear then cosine",3e-4,lambda o:SequentialLR(o,[lin(o),cos(o)],milestones=[10]),[L,C],[10])
case("linear cut short then cosine",3e-4,lambda o:SequentialLR(o,[lin(o),cos(o)],milestones=[6]),[L,C],[6])
case("linear then constant",5e-6,lambda o:SequentialLR(o,[lin(o),con(o)],milestones=[12]),[L,K],[12])
case("three pieces",1e-3,lambda o:SequentialLR(o,[con(o),lin(o),cos(o)],milestones=[5,17]),[K,L,C],[5,17])
json.dump(dict(made_with="torch 2.11.0",cases=out),open(sys.argv[1] + '/learning_rates.json','w'),indent=0)
# rope
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
ro=[]
def rope(name,params,maxpos,length,head_dim=32):
    cfg=LlamaConfig(vocab_size=64,hidden_size=64,intermediate_size=64,num_hidden_layers=1,num_attention_heads=2,head_dim=head_dim,max_position_embeddings=maxpos,rope_parameters=dict(params))
    e=LlamaRotaryEmbedding(cfg); pos=torch.arange(length)[None]; c,s=e(torch.zeros(1,length,64),pos)
    rows=[0,1,7,length-1]
    config=dict(model_type="llama",vocab_size=64,hidden_size=64,intermediate_size=64,num_hidden_layers=1,num_attention_heads=2,head_dim=head_dim,max_position_embeddings=maxpos,rope_parameters=params)
    ro.append(dict(name=name,config=config,length=length,rows=rows,cos=[c[0,r,:head_dim//2].tolist() for r in rows],sin=[s[0,r,:head_dim//2].tolist() for r in rows]))
T=dict(rope_theta=10000.0)
rope("default",dict(T,rope_type="default"),64,50)
rope("linear",dict(T,rope_type="linear",factor=4.0),64,50)
rope("dynamic short",dict(T,rope_type="dynamic",factor=2.0),64,50)
rope("dynamic long",dict(T,rope_type="dynamic",factor=2.0),64,150)
rope("llama3",dict(rope_theta=500000.0,rope_type="llama3",factor=8.0,low_freq_factor=1.0,high_freq_factor=4.0,original_max_position_embeddings=64),512,200)
rope("yarn",dict(T,rope_type="yarn",factor=4.0,original_max_position_embeddings=64),256,200)
rope("yarn betas, no truncation",dict(T,rope_type="yarn",factor=4.0,original_max_position_embeddings=64,beta_fast=16.0,beta_slow=2.0,truncate=False),256,200)
rope("yarn mscale",dict(T,rope_type="yarn",factor=8.0,original_max_position_embeddings=64,mscale=1.0,mscale_all_dim=0.5),512,200)
rope("yarn attention factor",dict(T,rope_type="yarn",factor=8.0,original_max_position_embeddings=64,attention_factor=1.25),512,200)
json.dump(dict(made_with="transformers 5.24.0",cases=ro),open(sys.argv[1] + '/rope.json','w'))
# adamw
torch.manual_seed(0); ad=[]
for wd,only in ((0.1,False),(0.1,True)):
    w=torch.nn.Parameter(torch.randn(3,5)); b=torch.nn.Parameter(torch.randn(5)); w0,b0=w.detach().clone(),b.detach().clone()
    groups=[dict(params=[w],weight_decay=wd),dict(params=[b],weight_decay=0.0 if only else wd)]
    o=torch.optim.AdamW(groups,lr=1e-2,betas=(0.9,0.95),eps=1e-8); steps=[]
    for k in range(4):
        w.grad=torch.randn(3,5)*(k+1); b.grad=torch.randn(5)*(k+1); gw,gb=w.grad.clone(),b.grad.clone()
        n=torch.nn.utils.clip_grad_norm_([w,b],4.0); lr=1e-2/(k+1)
        for g in o.param_groups: g['lr']=lr
        o.step(); steps.append(dict(lr=lr,norm=n.item(),grad_w=gw.flatten().tolist(),grad_b=gb.tolist(),w=w.detach().flatten().tolist(),b=b.detach().tolist()))
    ad.append(dict(decay_matrices_only=only,weight_decay=wd,beta1=0.9,beta2=0.95,eps=1e-8,max_norm=4.0,w0=w0.flatten().tolist(),b0=b0.tolist(),steps=steps))
json.dump(dict(made_with="torch 2.11.0",cases=ad),open(sys.argv[1] + '/adamw.json','w'))
